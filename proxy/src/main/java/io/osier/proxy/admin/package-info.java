/**
 * Internal: parsing of datacenters' JSON answers to administrative requests. It does not know how
 * requests are sent. No part of the API.
 */
@NullMarked
package io.osier.proxy.admin;

import org.jspecify.annotations.NullMarked;
