/*
 * idle: waits for a signal, and does nothing else.
 *
 * usage: idle
 */
#include <unistd.h>

int main(void)
{
	return pause();
}
