"""Writes what one node of a property's database needs: Patroni's file, and etcd's arguments.

    python -m deploy.property.node patroni --name n1 --nodes n1=10.0.0.1,n2=10.0.0.2,n3=10.0.0.3
    python -m deploy.property.node etcd --name n1 --nodes ...

It alone knows the settings that the trials chose. Passwords are not in the file: Patroni takes them
from its environment. JSON is written, which is YAML too.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kit.command_line import CommandRefused, told

SCOPE = "underfelt"
FOLDER = Path("/var/lib/underfelt-property")
POSTGRES_PORT, REST_PORT, ETCD_PORT, PEER_PORT = 5432, 8008, 2379, 2380
# Patroni raises a shorter one to this; a machine that dies costs about so long.
TTL_S = 20
LOOP_S = 2
RETRY_S = 3


@dataclass(frozen=True)
class Node:
    name: str
    host: str
    postgres_port: int = POSTGRES_PORT
    rest_port: int = REST_PORT
    etcd_port: int = ETCD_PORT
    peer_port: int = PEER_PORT


def patroni(node: Node, nodes: Sequence[Node], folder: Path, binaries: Path) -> dict[str, Any]:
    """The file that `patroni FILE` is started with."""
    data = folder / node.name
    return {
        "scope": SCOPE,
        "name": node.name,
        "restapi": _door(node.host, node.rest_port),
        # The v3 API; Patroni older than 4 must not be used with it (docs/property.md).
        "etcd3": {"hosts": [f"{each.host}:{each.etcd_port}" for each in nodes]},
        "bootstrap": _bootstrap(nodes),
        "postgresql": _door(node.host, node.postgres_port)
        | {
            "data_dir": str(data / "data"),
            "bin_dir": str(binaries),
            "pgpass": str(data / "pgpass"),
            "authentication": {
                "superuser": {"username": "postgres"},
                "replication": {"username": "replicator"},
                "rewind": {"username": "rewinder"},
            },
            "parameters": {"unix_socket_directories": str(data)},
            "basebackup": {"checkpoint": "fast"},
        },
        "watchdog": {"mode": "automatic", "device": "/dev/watchdog", "safety_margin": 5},
    }


def _door(host: str, port: int) -> dict[str, Any]:
    return {"listen": f"{host}:{port}", "connect_address": f"{host}:{port}"}


def _bootstrap(nodes: Sequence[Node]) -> dict[str, Any]:
    """Read once, at the very first start; later only `patronictl edit-config` counts."""
    hosts = sorted({each.host for each in nodes})
    addresses = [f"{host}/32" for host in hosts]
    return {
        "dcs": {
            "ttl": TTL_S,
            "loop_wait": LOOP_S,
            "retry_timeout": RETRY_S,
            "maximum_lag_on_failover": 0,
            # A primary that crashed is not started again in place first: fail over at once.
            "primary_start_timeout": 0,
            # What was acknowledged is on two disks, also when one of the three nodes is gone. With
            # no second disk left the floor stops rather than play on one.
            "synchronous_mode": True,
            "synchronous_mode_strict": True,
            "synchronous_node_count": 1,
            "postgresql": {
                "use_pg_rewind": True,
                "use_slots": True,
                "parameters": _parameters(),
            },
        },
        "initdb": [
            {"encoding": "UTF8"},
            {"locale": "C"},
            {"auth-local": "peer"},
            {"auth-host": "scram-sha-256"},
            "data-checksums",
        ],
        "pg_hba": [
            "local all all peer",
            *(f"host replication replicator {each} scram-sha-256" for each in addresses),
            "host all all samenet scram-sha-256",
        ],
    }


def _parameters() -> dict[str, Any]:
    return {
        "synchronous_commit": "on",
        "password_encryption": "scram-sha-256",
        "max_connections": 100,
        "wal_sender_timeout": "5s",  # a standby that hangs holds every commit for so long
        "wal_keep_size": "512MB",
        "hot_standby": "on",
        # Every node keeps the whole archive, so that it outlives the primary. Without the folder
        # nothing is archived: a command that fails would fill the disk.
        "archive_mode": "always",
        "archive_command": "test ! -d ../archive || cmp -s %p ../archive/%f"
        " || (test ! -f ../archive/%f && cp %p ../archive/%f.part && sync ../archive/%f.part"
        " && mv ../archive/%f.part ../archive/%f)",
        "archive_timeout": "60s",
        "tcp_keepalives_idle": 2,
        "tcp_keepalives_interval": 1,
        "tcp_keepalives_count": 3,
        "client_connection_check_interval": "1s",
    }


def etcd(node: Node, nodes: Sequence[Node], folder: Path) -> list[str]:
    """The arguments that etcd is started with."""
    client = f"http://{node.host}:{node.etcd_port}"
    peer = f"http://{node.host}:{node.peer_port}"
    members = ",".join(f"{each.name}=http://{each.host}:{each.peer_port}" for each in nodes)
    return [
        *("--name", node.name, "--data-dir", str(folder / node.name / "etcd")),
        *("--listen-client-urls", client, "--advertise-client-urls", client),
        *("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer),
        *("--initial-cluster", members, "--initial-cluster-token", SCOPE),
        # A disk that is busy for a while must not look like a dead member.
        *("--heartbeat-interval", "500", "--election-timeout", "5000"),
    ]


def database_url(nodes: Sequence[Node], user: str, name: str, password: str = "") -> str:
    """What managers are given: every node, in any order, whichever takes writes."""
    who = f"{user}:{password}" if password else user
    hosts = ",".join(each.host for each in nodes)
    ports = ",".join(str(each.postgres_port) for each in nodes)
    options: Mapping[str, object] = {
        "host": hosts,
        "port": ports,
        "target_session_attrs": "read-write",
        # A frozen old primary still says that it takes writes.
        "load_balance_hosts": "random",
        "connect_timeout": 2,
        "tcp_user_timeout": 3000,
        "keepalives_idle": 2,
        "keepalives_interval": 1,
        "keepalives_count": 3,
    }
    return f"postgresql://{who}@/{name}?" + "&".join(f"{key}={it}" for key, it in options.items())


def _nodes(text: str) -> list[Node]:
    nodes = []
    for part in text.split(","):
        name, separator, host = part.partition("=")
        if not separator or not name or not host:
            raise CommandRefused(f"{part!r} is no node such as n1=10.0.0.1.")
        nodes.append(Node(name, host))
    return nodes


def main(arguments: Sequence[str] | None = None) -> int:
    return told(lambda: _run(list(sys.argv[1:] if arguments is None else arguments)))


def _run(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy.property.node", description=__doc__)
    parser.add_argument("what", choices=("patroni", "etcd", "url"))
    parser.add_argument("--nodes", required=True, metavar="NAME=HOST,…", help="all nodes")
    parser.add_argument("--name", default="", help="which of them this one is")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--binaries", type=Path, default=Path("/usr/lib/postgresql/15/bin"))
    options = parser.parse_args(arguments)
    nodes = _nodes(options.nodes)
    if options.what == "url":
        print(database_url(nodes, "underfelt_manager", "underfelt"))
        return 0
    own = [each for each in nodes if each.name == options.name]
    if not own:
        raise CommandRefused(f"--name must be one of the nodes, not {options.name!r}.")
    if options.what == "etcd":
        print(" ".join(etcd(own[0], nodes, options.folder)))
    else:
        print(json.dumps(patroni(own[0], nodes, options.folder, options.binaries), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
