package io.osier.datacenter.config;

/**
 * What may be copied of objects that others hold.
 *
 * @param bytes of the heap; 0 for no copies
 * @param followed so many objects at most, and as many are counted
 * @param msWorth so many bytes a millisecond of a read's way is worth
 */
public record CopySettings(long bytes, int followed, int msWorth) {}
