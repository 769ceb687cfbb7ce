/**
 * The control plane: what holds for all datacenters and changes while they serve. It is kept in the
 * causal keyspace {@code _osier}, which every datacenter holds, in objects of Osier's own types,
 * and travels as everything else does.
 *
 * <p>{@link io.osier.datacenter.control.ControlState} is what that says of keyspaces and {@link
 * io.osier.datacenter.control.Membership} of datacenters; {@link
 * io.osier.datacenter.control.ControlPlane} is what a datacenter makes of it, with a part for
 * keyspaces, one for datacenters and one for users.
 */
@NullMarked
package io.osier.datacenter.control;

import org.jspecify.annotations.NullMarked;
