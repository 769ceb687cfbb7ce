/**
 * The control plane: the keyspaces, datacenters and users of the cluster, which change while it
 * serves. It is kept in the causal keyspace {@code _osier}, which every datacenter holds, in
 * objects of Osier's own types, and travels as everything else does.
 *
 * <p>{@link io.osier.datacenter.control.ControlState} reads the keyspaces from it and {@link
 * io.osier.datacenter.control.Membership} the datacenters; {@link
 * io.osier.datacenter.control.ControlPlane} carries out in a datacenter what it says, with a part
 * for keyspaces, one for datacenters and one for users.
 */
@NullMarked
package io.osier.datacenter.control;

import org.jspecify.annotations.NullMarked;
