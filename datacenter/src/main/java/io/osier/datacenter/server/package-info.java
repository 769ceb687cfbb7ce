/** The shell around the partitions: threads, sockets, timers, files. */
@NullMarked
package io.osier.datacenter.server;

import org.jspecify.annotations.NullMarked;
