/** The store port and its adapters. */
@NullMarked
package io.osier.datacenter.store;

import org.jspecify.annotations.NullMarked;
