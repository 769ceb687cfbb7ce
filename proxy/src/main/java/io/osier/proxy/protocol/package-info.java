/** The messages between a client and a datacenter. docs/PROTOCOL.md shows their bytes. */
package io.osier.proxy.protocol;
