"""Keys of compose files without a counterpart, and the reason."""

SOFTWARE = 'its programs have to be installed here'
NETWORK = 'all services have the network of swansongd: the program has to listen at the port itself'
FILES = 'all services have the files of swansongd: give the program the path, or make a link'
NAMES = 'a service has the name of its node, and the machine its own'
LIMIT = 'the keys cgroup-... of swansong.ini(5) have no such limit'
SANDBOX = 'protect and other keys of swansong.ini(5), or bwrap(1) in front of the command, limit what a service sees'
READ_ONLY = 'read-only-system can do it, with write-paths for what the service writes'
SECRET = 'credential gives the service a copy of a file, in CREDENTIALS_DIRECTORY and not in /run/secrets'
DISPLAY = 'terminal = yes is for one service, with the terminal of swansongd'
LABEL = 'nothing here reads it'
ENGINE = 'it is a setting of the container engine'

SERVICE = {}
for reason, keys in (
        (SOFTWARE, 'image build platform pull_policy runtime isolation provider models'),
        (NETWORK, 'ports networks dns dns_opt dns_search extra_hosts links external_links mac_address '
                  'network_mode'),
        (FILES, 'volumes volumes_from shm_size storage_opt'),
        (NAMES, 'hostname domainname container_name'),
        (LIMIT, 'cpus cpu_count cpu_percent cpu_period cpu_quota cpu_rt_runtime cpu_rt_period '
                'mem_reservation mem_swappiness memswap_limit oom_kill_disable cgroup_parent'),
        ('cgroup-io-weight has its weight; there are no limits of devices', 'blkio_config'),
        (READ_ONLY, 'read_only'),
        (SANDBOX, 'devices device_cgroup_rules ipc pid userns_mode uts cgroup gpus sysctls privileged'),
        (SECRET, 'secrets configs credential_spec'),
        (DISPLAY, 'tty stdin_open attach'),
        (LABEL, 'labels annotations label_file'),
        (ENGINE, 'develop use_api_socket')):
    SERVICE.update((key, reason) for key in keys.split())
# They change nothing.
SILENT = {'expose', 'init'}
OFF = {'read_only': 'false', 'privileged': 'false', 'tty': 'false', 'stdin_open': 'false',
       'oom_kill_disable': 'false', 'network_mode': 'host', 'attach': 'true'}

TOP = {'networks': NETWORK, 'volumes': FILES, 'configs': SECRET, 'secrets': SECRET, 'models': SOFTWARE}
TOP_SILENT = {'version', 'name', 'services'}
CONFIG = 'read the output of "docker compose config" instead'
# What a container of root has without cap_add and cap_drop.
CAPABILITIES = '''chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw
    sys_chroot mknod audit_write setfcap'''.split()
LIMITS = set('as core cpu data fsize locks memlock msgqueue nice nofile nproc rss rtprio rttime sigpending '
             'stack'.split())
