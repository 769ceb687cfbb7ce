/**
 * What carries the control plane's decisions out at this datacenter: keyspaces that open and close,
 * holders of keyspaces and members that join and leave, rights that are taken over. What is decided
 * is in {@code control}.
 */
@NullMarked
package io.osier.datacenter.control.execution;

import org.jspecify.annotations.NullMarked;
