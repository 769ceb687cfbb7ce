/** The stores of a datacenter that has no disk: entries and former versions in memory. */
@NullMarked
package io.osier.datacenter.store.memory;

import org.jspecify.annotations.NullMarked;
