/** Reads and checks the configuration. */
@NullMarked
package io.osier.datacenter.config;

import org.jspecify.annotations.NullMarked;
