package io.osier.datacenter.config;

/**
 * The settings of copies of objects that others hold.
 *
 * @param bytes bytes of the heap; 0 for no copies
 * @param followed the most objects that are followed; as many are counted
 * @param msWorth how many bytes a millisecond of a read's round trip is worth
 */
public record CopySettings(long bytes, int followed, int msWorth) {}
