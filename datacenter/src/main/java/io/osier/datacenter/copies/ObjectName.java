package io.osier.datacenter.copies;

import io.osier.core.Key;

record ObjectName(String keyspace, Key key) {}
