/**
 * Datacenters in containers, for the tests of applications: {@link
 * io.osier.testcontainers.OsierContainer}.
 */
@NullMarked
package io.osier.testcontainers;

import org.jspecify.annotations.NullMarked;
