/**
 * Datacenters in containers, for the tests of applications: {@link
 * io.osier.testcontainers.OsierContainer}.
 */
package io.osier.testcontainers;
