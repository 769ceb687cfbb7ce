/**
 * The admin port: HTTP, the dashboard's pages, metrics in Prometheus' format, health checks. It
 * reads the snapshots that the datacenter publishes, and changes nothing.
 */
@NullMarked
package io.osier.datacenter.admin;

import org.jspecify.annotations.NullMarked;
