package io.osier.datacenter.copies;

import io.osier.core.Key;

/** A key of a keyspace. */
record ObjectName(String keyspace, Key key) {}
