"""engines.py FILE...: manifests of Kubernetes (.yaml) and jobs of Nomad (.hcl) have no key that is unknown or missing,
no value of another type, and no name that nothing has.  Prints what is wrong; fails then.

The tables have the keys that contrib uses, from the references of both: a further one is looked up there first."""

import re
import sys

# A key with "!" is required.  A type: str, int, bool; the name of a table; [type]: a list; {str}: any keys.
KUBERNETES = {
    "Pod": {"apiVersion!": "v1", "kind!": str, "metadata!": "Meta", "spec!": "PodSpec"},
    "Deployment": {"apiVersion!": "apps/v1", "kind!": str, "metadata!": "Meta", "spec!": "DeploymentSpec"},
    "Service": {"apiVersion!": "v1", "kind!": str, "metadata!": "Meta", "spec!": "ServiceSpec"},
    "PodDisruptionBudget": {"apiVersion!": "policy/v1", "kind!": str, "metadata!": "Meta", "spec!": "BudgetSpec"},
    "Meta": {"name": str, "labels": {str}},
    "Selector": {"matchLabels!": {str}},
    "DeploymentSpec": {"replicas": int, "strategy": "Strategy", "selector!": "Selector", "template!": "Template"},
    "Strategy": {"type": "RollingUpdate", "rollingUpdate": "RollingUpdateSpec"},
    "RollingUpdateSpec": {"maxSurge": int, "maxUnavailable": int},
    "Template": {"metadata!": "Meta", "spec!": "PodSpec"},
    "ServiceSpec": {"selector!": {str}, "ports!": ["ServicePort"]},
    "ServicePort": {"name": str, "port!": int, "targetPort": str},
    "BudgetSpec": {"maxUnavailable": int, "selector!": "Selector"},
    "PodSpec": {"terminationGracePeriodSeconds": int, "volumes": ["Volume"], "initContainers": ["Container"],
                "containers!": ["Container"]},
    "Volume": {"name!": str, "emptyDir": "EmptyDir"},
    "EmptyDir": {"medium": "Memory"},
    "Container": {"name!": str, "image": str, "imagePullPolicy": "IfNotPresent", "command": [str], "args": [str],
                  "restartPolicy": "Always", "env": ["Variable"], "ports": ["Port"], "startupProbe": "Probe",
                  "readinessProbe": "Probe", "livenessProbe": "Probe", "lifecycle": "Lifecycle",
                  "volumeMounts": ["Mount"], "securityContext": "SecurityContext"},
    "Variable": {"name!": str, "value": str},
    "Port": {"name": str, "containerPort!": int},
    "Probe": {"exec": "Exec", "httpGet": "HttpGet", "tcpSocket": "TcpSocket", "periodSeconds": int,
              "timeoutSeconds": int, "failureThreshold": int},
    "Lifecycle": {"preStop": "Handler"},
    "Handler": {"exec": "Exec"},
    "Exec": {"command!": [str]},
    "HttpGet": {"path": str, "port!": str},
    "TcpSocket": {"port!": int},
    "Mount": {"name!": str, "mountPath!": str},
    "SecurityContext": {"readOnlyRootFilesystem": bool, "allowPrivilegeEscalation": bool},
}
# A block with a label is a table of tables; one that may be repeated is a list.
NOMAD = {
    "File": {"job!": {"Job"}},
    "Job": {"type": "service", "update": "Update", "group!": {"Group"}},
    "Update": {"max_parallel": int, "canary": int, "auto_promote": bool, "health_check": "checks",
               "min_healthy_time": "DURATION"},
    "Group": {"count": int, "network": "Network", "task!": {"Task"}},
    "Network": {"port": {"Port"}},
    "Port": {"to": int},
    "Task": {"driver!": "docker", "config!": "Docker", "shutdown_delay": "DURATION", "kill_signal": "SIGTERM",
             "kill_timeout": "DURATION", "env": {str}, "service": "Service", "resources": "Resources"},
    "Docker": {"image!": str, "ports": [str], "readonly_rootfs": bool, "mount": ["Mount"]},
    "Mount": {"type!": "tmpfs", "target!": str},
    "Service": {"name": str, "provider": "nomad", "port": str, "check": "Check"},
    # With another type, other keys.
    "Check": {"name": str, "type!": "http", "port": str, "path!": str, "interval!": "DURATION",
              "timeout!": "DURATION"},
    "Resources": {"cpu": int, "memory": int},
}
wrong = []


def check(tables, kind, value, where):
    if isinstance(kind, list) and isinstance(value, list):
        for i, item in enumerate(value):
            check(tables, kind[0], item, f"{where}[{i}]")
    elif isinstance(kind, set) and isinstance(value, dict):
        for key, item in value.items():
            check(tables, *kind, item, f"{where}.{key}")
    elif isinstance(kind, str) and kind in tables:
        check_table(tables, tables[kind], value, where)
    elif not is_of(kind, value):
        wrong.append(f"{where}: {value!r}: expected {getattr(kind, '__name__', kind)}")


def is_of(kind, value):
    if kind == "DURATION":
        return isinstance(value, str) and re.fullmatch("[1-9][0-9]*(s|m|h)", value)
    return value == kind if isinstance(kind, str) else type(value) is kind


def check_table(tables, table, value, where):
    if not isinstance(value, dict):
        wrong.append(f"{where}: expected keys")
        return
    for key, item in value.items():
        kind = table.get(key, table.get(key + "!"))
        if kind is None:
            wrong.append(f"{where}.{key}: unknown key")
        else:
            check(tables, kind, item, f"{where}.{key}")
    for key in table:
        if key.endswith("!") and key[:-1] not in value:
            wrong.append(f"{where}: no {key[:-1]}")


def refer(names, there, where):
    for name in names:
        if name not in there:
            wrong.append(f"{where}: {name}: nothing has that name")


def kubernetes(path):
    import yaml

    documents = list(yaml.safe_load_all(open(path)))
    for document in documents:
        kind = document.get("kind")
        check(KUBERNETES, kind if kind in KUBERNETES else "a kind", document, f"{path}: {kind}")
    if wrong:
        return
    pods = [document["spec"].get("template", document) for document in documents
            if document["kind"] in ("Pod", "Deployment")]
    for document in documents:
        spec, where = document["spec"], f"{path}: {document['kind']}"
        selector = spec.get("selector", {})
        selector = selector.get("matchLabels", selector)
        if not any(selector.items() <= pod["metadata"].get("labels", {}).items() for pod in pods):
            wrong.append(f"{where}: selects no pod")
        for port in spec.get("ports", []):
            refer([port["targetPort"]], [p["name"] for pod in pods for c in pod["spec"]["containers"]
                                         for p in c.get("ports", [])], where)
    for pod in pods:
        volumes = [volume["name"] for volume in pod["spec"].get("volumes", [])]
        for container in pod["spec"].get("initContainers", []) + pod["spec"]["containers"]:
            where = f"{path}: {container['name']}"
            refer([mount["name"] for mount in container.get("volumeMounts", [])], volumes, where)
            refer([probe["httpGet"]["port"] for key, probe in container.items()
                   if key.endswith("Probe") and "httpGet" in probe],
                  [port["name"] for port in container.get("ports", [])], where)


def hcl(text):
    """Blocks, attributes, comments; strings without an escape, numbers, booleans and lists of these."""
    tokens = re.findall(r'"[^"\\]*"|[\w.-]+|[{}=\[\],]|#[^\n]*|\S', text)
    tokens = [token for token in tokens if token[0] != "#"] + ["}"]

    def expect(token):
        if tokens.pop(0) != token:
            raise ValueError(f"expected {token} before: {' '.join(tokens[:5])}")

    def value():
        token = tokens.pop(0)
        if token == "[":
            items = []
            while tokens[0] != "]":
                items.append(value())
                if tokens[0] != "]":
                    expect(",")
            tokens.pop(0)
            return items
        if token[0] == '"':
            return token[1:-1]
        return {"true": True, "false": False}[token] if token in ("true", "false") else int(token)

    def body():
        keys = {}
        while tokens[0] != "}":
            key = tokens.pop(0)
            if tokens[0] == "=":
                tokens.pop(0)
                keys[key] = value()
                continue
            label = tokens.pop(0)[1:-1] if tokens[0][0] == '"' else None
            expect("{")
            block = body()
            if label is not None:
                keys.setdefault(key, {})[label] = block
            elif key == "mount":
                keys.setdefault(key, []).append(block)
            elif key in keys:
                raise ValueError(f"{key}: stands there twice")
            else:
                keys[key] = block
        tokens.pop(0)
        return keys

    keys = body()
    if tokens:
        raise ValueError(f"a }} without its {{ before: {' '.join(tokens[:5])}")
    return keys


def nomad(path):
    try:
        job = hcl(open(path).read())
    except (ValueError, IndexError) as error:
        wrong.append(f"{path}: {error if isinstance(error, ValueError) else 'a block has no end'}")
        return
    check(NOMAD, "File", job, path)
    if wrong:
        return
    for group in [group for j in job["job"].values() for group in j["group"].values()]:
        ports = group.get("network", {}).get("port", {})
        for name, task in group["task"].items():
            where = f"{path}: {name}"
            service = task.get("service", {})
            refer(task["config"].get("ports", []), ports, where)
            refer([part["port"] for part in (service, service.get("check", {})) if "port" in part],
                  task["config"].get("ports", []), where)


for file in sys.argv[1:]:
    (nomad if file.endswith(".hcl") else kubernetes)(file)
print("\n".join(wrong))
sys.exit(1 if wrong else 0)
