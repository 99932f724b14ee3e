"""The database of a property: three nodes of PostgreSQL under Patroni, with etcd beside each."""
