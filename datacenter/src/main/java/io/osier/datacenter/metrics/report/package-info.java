/**
 * What is made of the published figures for people and programs: JSON, readiness, the inspection of
 * one object. It measures nothing itself.
 */
@NullMarked
package io.osier.datacenter.metrics.report;

import org.jspecify.annotations.NullMarked;
