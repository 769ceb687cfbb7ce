/**
 * The admin port: HTTP, the dashboard's pages, metrics in Prometheus' form, health checks. It reads
 * what the datacenter publishes and changes nothing.
 */
@NullMarked
package io.osier.datacenter.admin;

import org.jspecify.annotations.NullMarked;
