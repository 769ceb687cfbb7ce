/**
 * The form of keys and values on disk. Every byte here is held by golden tests; a change is a new
 * store version.
 */
@NullMarked
package io.osier.datacenter.store.records;

import org.jspecify.annotations.NullMarked;
