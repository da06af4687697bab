"""relay.py PORT TO SECONDS: relays each connection to PORT to port TO of this machine, after so many
seconds, and ends all of them when it is killed."""
import asyncio
import sys

HOST = "127.0.0.1"


async def copy(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def relay(reader, writer):
    await asyncio.sleep(float(sys.argv[3]))
    try:
        reader_to, writer_to = await asyncio.open_connection(HOST, sys.argv[2])
    except OSError:
        writer.close()
        return
    await asyncio.gather(copy(reader, writer_to), copy(reader_to, writer))


async def main():
    server = await asyncio.start_server(relay, HOST, sys.argv[1])
    await server.serve_forever()


asyncio.run(main())
