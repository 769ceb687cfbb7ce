/**
 * Collects the published metrics, and renders them for people and programs: snapshots, JSON,
 * readiness, the report of one key. It measures nothing itself.
 */
@NullMarked
package io.osier.datacenter.metrics.report;

import org.jspecify.annotations.NullMarked;
