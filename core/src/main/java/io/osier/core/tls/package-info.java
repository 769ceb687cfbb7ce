/**
 * Provides TLS 1.3 from files in PEM form, which are read again when they change, and explains its
 * errors in words: for clients, datacenters and their pages alike.
 */
@NullMarked
package io.osier.core.tls;

import org.jspecify.annotations.NullMarked;
