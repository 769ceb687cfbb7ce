/** The shell around the partitions: threads, sockets, timers, files. */
package io.osier.datacenter.server;
