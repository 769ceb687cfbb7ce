/**
 * TLS 1.3 from files in PEM form, read again when they change, and what went wrong with it in
 * words: for clients, datacenters and their pages alike.
 */
@NullMarked
package io.osier.core.tls;

import org.jspecify.annotations.NullMarked;
