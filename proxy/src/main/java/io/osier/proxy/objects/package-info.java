/**
 * Internal: what handles are made of: the object or field that one stands for, how it is read and
 * updated, page by page where it is large, and how Java objects are encoded. It does not know
 * whether a keyspace or a transaction does it. No part of the API.
 */
@NullMarked
package io.osier.proxy.objects;

import org.jspecify.annotations.NullMarked;
