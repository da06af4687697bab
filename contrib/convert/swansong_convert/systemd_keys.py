"""Keys of units without a counterpart: the reason, and the remedy where there is one."""

import re

# Values of a switch with which a restriction or an extension is absent.
OFF = ('no', 'false', 'off', '0', 'n', 'f', '')

MOUNTS = 'the service has these of swansongd: bwrap(1) or unshare(1) in front of the command'
WRITES = 'write-paths and read-paths are all that a service may use: bwrap(1) in front of the command for others'
KERNEL = 'all services inherit it from a drop-in of swansongd.service, such as hardened.conf of the package'
CALLS = 'system-calls has names of calls alone: all services inherit it from a drop-in of swansongd.service'
NETWORK = 'tcp-bind and tcp-connect are the ports of a service: a firewall for the rest'
CGROUP = 'there is no such key for a service: set it on the group ' \
         'of swansongd.service for all services'
LOGS = 'the log has the path of the node as its identifier, and log-format; filter where it is read'
SCHEDULER = 'chrt(1) in front of the command can set it'
CREDENTIALS = 'credential copies a file, which is not encrypted'
IMAGES = 'there are no images: root-directory is a directory'
CONDITION = 'there is no such condition: a command can check it, by an exec: of condition'

SERVICE = {}


def add(reason, keys):
    SERVICE.update((key, reason) for key in keys.split())


add(WRITES, 'InaccessiblePaths ExecPaths NoExecPaths InaccessibleDirectories TemporaryFileSystem BindPaths '
            'BindReadOnlyPaths')
add(MOUNTS, 'PrivateMounts MountFlags MountAPIVFS PrivateIPC '
            'ProcSubset NetworkNamespacePath IPCNamespacePath PrivatePIDs BindLogSockets '
            'ExtensionImages ExtensionDirectories MountImages MountImagePolicy ExtensionImagePolicy PrivateBPF')
add(KERNEL, 'RestrictFileSystems Personality SecureBits SELinuxContext '
            'AppArmorProfile SmackProcessLabel DelegateNamespaces')
add(CALLS, 'SystemCallLog')
add(NETWORK, 'IPAddressAllow IPAddressDeny IPIngressFilterPath IPEgressFilterPath '
             'SocketBindAllow SocketBindDeny RestrictNetworkInterfaces NFTSet BPFProgram')
add(CGROUP, 'CPUQuota CPUQuotaPeriodSec CPUAccounting MemoryAccounting TasksAccounting IOAccounting '
            'IPAccounting BlockIOAccounting MemoryMin MemoryLow MemorySwapMax MemoryZSwapMax '
            'MemoryZSwapWriteback DefaultMemoryMin DefaultMemoryLow StartupMemoryMax StartupMemoryHigh '
            'StartupMemoryLow StartupMemorySwapMax StartupMemoryZSwapMax StartupIOWeight '
            'IODeviceWeight IOReadBandwidthMax IOWriteBandwidthMax IOReadIOPSMax IOWriteIOPSMax '
            'IODeviceLatencyTargetSec BlockIOWeight StartupBlockIOWeight BlockIODeviceWeight '
            'BlockIOReadBandwidth BlockIOWriteBandwidth StartupCPUWeight StartupCPUShares AllowedCPUs '
            'StartupAllowedCPUs AllowedMemoryNodes StartupAllowedMemoryNodes '
            'Slice ManagedOOMSwap ManagedOOMMemoryPressure ManagedOOMMemoryPressureLimit '
            'ManagedOOMMemoryPressureDurationSec ManagedOOMPreference MemoryPressureWatch '
            'MemoryPressureThresholdSec DisableControllers CoredumpReceive DelegateSubgroup OOMPolicy '
            'ManagedOOMRules MemoryKSM')
add(LOGS, 'SyslogIdentifier SyslogFacility SyslogLevel SyslogLevelPrefix LogLevelMax LogExtraFields '
          'LogRateLimitIntervalSec LogRateLimitBurst LogFilterPatterns LogNamespace')
add(SCHEDULER, 'CPUSchedulingPolicy CPUSchedulingPriority CPUSchedulingResetOnFork')
add(CREDENTIALS, 'LoadCredentialEncrypted SetCredential SetCredentialEncrypted ImportCredential')
add(IMAGES, 'RootImage RootImageOptions RootHash RootHashSignature RootVerity RootEphemeral '
            'RootImagePolicy RootMStack')
SERVICE.update({
    'RuntimeMaxSec': 'there is no limit: timeout(1) in front of the command',
    'RuntimeRandomizedExtraSec': 'there is no limit of the time to run',
    'TimeoutAbortSec': 'stop-timeout is the time after the signal of the watchdog, too',
    'TimeoutStartFailureMode': 'the stop-signal ends a start that lasts too long',
    'TimeoutStopFailureMode': 'see kill-signal in swansong.ini(5)',
    'RestartForceExitStatus': 'restart decides by success and failure only',
    'RestartKillSignal': 'a restart uses the stop-signal',
    'RestartMode': 'services that require it see a restart only if it is by hand',
    'RestartSteps': 'the delay doubles from restart-delay to restart-delay-max',
    'SendSIGHUP': 'only the stop-signal is sent',
    'RootDirectoryStartOnly': 'all commands run in root-directory',
    'PermissionsStartOnly': 'a command runs as the user of the service: see the prefix + of ExecStartPre=',
    'NonBlocking': 'descriptors are passed as they are',
    'GuessMainPID': 'the main process is the one that was started, or the one of pid-file',
    'USBFunctionDescriptors': 'there are no USB functions',
    'USBFunctionStrings': 'there are no USB functions',
    'FileDescriptorStorePreserve': 'descriptors are kept over a restart, and closed by a stop',
    'OpenFile': 'a command can open it: sh -c \'exec PROGRAM 3<FILE\'',
    'ExitType': 'the service ends with its main process',
    'RefreshOnReload': 'only the service itself reloads',
    'Delegate': 'the group of a service has no groups below it that the service may make',
    'PAMName': 'there are no sessions of PAM: runuser(1) in front of the command',
    'UtmpIdentifier': 'there are no entries in utmp', 'UtmpMode': 'there are no entries in utmp',
    'TTYPath': 'terminal is that of swansongd', 'TTYReset': 'terminal is that of swansongd',
    'TTYVHangup': 'terminal is that of swansongd', 'TTYVTDisallocate': 'terminal is that of swansongd',
    'TTYRows': 'terminal is that of swansongd', 'TTYColumns': 'terminal is that of swansongd',
    'StandardInputText': 'stdin is a file: write the text to one',
    'StandardInputData': 'stdin is a file: write the data to one',
    'TimerSlackNSec': 'it stays as the kernel has it',
    'NUMAPolicy': 'numactl(8) in front of the command can set it',
    'NUMAMask': 'numactl(8) in front of the command can set it',
    'IgnoreSIGPIPE': 'SIGPIPE has its default effect: env --ignore-signal=PIPE in front of the command',
    'CoredumpFilter': 'a command can write to /proc/self/coredump_filter',
    'SetLoginEnvironment': 'HOME, USER, LOGNAME and SHELL are set with user',
    'ExecSearchPath': 'set PATH by environment', 'ConfigurationDirectoryMode': 'the directory has to exist',
    'UnsetEnvironment': 'a file of environment-file may still set it',
    'KeyringMode': 'each service has a session keyring of its own',
    'RemoveIPC': 'a post-stop can remove them by ipcrm(1)',
    'SysVStartPriority': 'systemd itself ignores it',
})

UNIT = {
    'JobTimeoutSec': 'a start has start-timeout', 'JobRunningTimeoutSec': 'a start has start-timeout',
    'JobTimeoutAction': 'a start that lasts too long fails',
    'JobTimeoutRebootArgument': 'swansongd does not reboot', 'RebootArgument': 'swansongd does not reboot',
    'StartLimitAction': 'see on-failed in swansong.ini(5)',
    'FailureActionExitStatus': 'the exit status of swansongd is that of the service',
    'SuccessActionExitStatus': 'the exit status of swansongd is that of the service',
    'Conflicts': 'no service keeps another one from running: set autostart = no for one of them',
    'OnFailureJobMode': 'there are no modes of jobs', 'OnSuccessJobMode': 'there are no modes of jobs',
    'PropagatesReloadTo': 'a reload is for one service', 'PropagateReloadTo': 'a reload is for one service',
    'ReloadPropagatedFrom': 'a reload is for one service',
    'PropagateReloadFrom': 'a reload is for one service',
    'PropagatesStopTo': 'a stop stops the services that require the node',
    'StopPropagatedFrom': 'a stop stops the services that require the node',
    'JoinsNamespaceOf': 'all services have the namespaces of swansongd',
    'RequiresMountsFor': 'give it to swansongd.service by a drop-in: RequiresMountsFor=',
    'WantsMountsFor': 'give it to swansongd.service by a drop-in: WantsMountsFor=',
    'StopWhenUnneeded': 'a service stays until it is stopped',
    'RefuseManualStart': 'swansongctl may start each service',
    'RefuseManualStop': 'swansongctl may stop each service',
    'BindTo': 'the name of BindsTo= in old units', 'SurviveFinalKillSignal': 'all services end with swansongd',
}

# Nothing is lost by leaving these out.
SILENT = {
    'Unit': {'Description', 'Documentation', 'SourcePath', 'CollectMode', 'IgnoreOnIsolate', 'AllowIsolate',
             'IgnoreOnSnapshot', 'OnFailureIsolate'},
    'Install': {'WantedBy', 'RequiredBy', 'UpheldBy', 'Alias', 'Also', 'DefaultInstance'},
    'Service': set(),
}

# What systemd has started before swansongd, and what each service conflicts with by default.
EARLY = set('''
    network.target network-pre.target sysinit.target basic.target local-fs.target local-fs-pre.target
    sockets.target timers.target paths.target slices.target swap.target cryptsetup.target syslog.target
    syslog.socket syslog.service rsyslog.service dbus.socket dbus.service -.mount system.slice tmp.mount
    var.mount run.mount usr.mount systemd-journald.socket systemd-journald.service
    systemd-tmpfiles-setup.service systemd-tmpfiles-setup-dev.service systemd-sysusers.service
    systemd-udevd.service systemd-udev-trigger.service systemd-udev-settle.service
    systemd-remount-fs.service systemd-modules-load.service systemd-sysctl.service systemd-random-seed.service
    time-set.target nss-user-lookup.target local.target keyboard-setup.service veritysetup.target
    integritysetup.target getty-pre.target remote-fs-pre.target systemd-user-sessions.service
    sysctl.service udev.service systemd-hwdb-update.service
    systemd-logind.service plymouth-quit.service plymouth-quit-wait.service rc-local.service
'''.split())
LATE = set('''
    shutdown.target umount.target final.target reboot.target halt.target poweroff.target kexec.target
    emergency.target emergency.service rescue.target rescue.service sleep.target
'''.split())
GOALS = set('''
    multi-user.target graphical.target default.target rescue.target
'''.split())

# Figures of systemd alone, which change nothing for a service.
FIGURES = set('CPUAccounting MemoryAccounting TasksAccounting IOAccounting IPAccounting BlockIOAccounting'.split())
# The value with which the key has no effect, beside those of a switch.
ABSENT = {'OOMPolicy': 'continue', 'DevicePolicy': 'auto', 'FileDescriptorStorePreserve': 'restart',
          'KeyringMode': 'inherit', 'ProtectProc': 'default', 'ProcSubset': 'all', 'ExitType': 'main',
          'RestartMode': 'normal', 'SyslogLevelPrefix': 'yes', 'GuessMainPID': 'yes',
          'SetLoginEnvironment': 'yes', 'CPUSchedulingPolicy': 'other', 'Slice': 'system.slice'}


def is_off(key, value):
    """Returns true if a restriction is absent with this value, so that nothing is lost."""
    value = value.strip().lower()
    return key in FIGURES or value == ABSENT.get(key) or value in OFF


def reason_of(section, key):
    """The reason of a key that no code asks for."""
    if section == 'Unit':
        if re.match('(Condition|Assert)[A-Z]', key):
            return CONDITION
        return UNIT.get(key, 'it is not a key of [Unit] that is known here')
    return SERVICE.get(key, 'it is not a key of [%s] that is known here' % section)
