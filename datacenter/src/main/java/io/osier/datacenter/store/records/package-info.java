/**
 * The form of keys and values on disk. Golden tests hold every byte; a change needs a new store
 * version.
 */
@NullMarked
package io.osier.datacenter.store.records;

import org.jspecify.annotations.NullMarked;
