package io.osier.datacenter.copies;

import io.osier.core.Key;

/** The name of a key in a keyspace. */
record ObjectName(String keyspace, Key key) {}
