/** A datacenter process: partitions, store, network shell, configuration, command line. */
package io.osier.datacenter;
