/**
 * Carries out the control plane's decisions at this datacenter: keyspaces open and close, holders
 * and members join and leave, rights are taken over. The decisions are made in {@code control}.
 */
@NullMarked
package io.osier.datacenter.control.execution;

import org.jspecify.annotations.NullMarked;
