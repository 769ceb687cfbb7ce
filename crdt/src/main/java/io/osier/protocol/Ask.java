package io.osier.protocol;

import io.osier.crdt.Query;

/**
 * A question about the object that an update's caller sends with it, answered as of the moment of
 * the update at the datacenter: nothing comes in between. Needs the right to read.
 *
 * @param before whether the object is read as it was before the update; otherwise after it
 */
public record Ask(boolean before, Query query) {}
