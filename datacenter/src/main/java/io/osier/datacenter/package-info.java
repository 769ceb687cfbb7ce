/** A datacenter process: partitions, store, network shell, configuration, command line. */
@NullMarked
package io.osier.datacenter;

import org.jspecify.annotations.NullMarked;
