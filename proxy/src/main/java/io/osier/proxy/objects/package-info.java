/**
 * Internal: what handles delegate to: the object or field that a handle stands for, reads and
 * updates of it, page by page where it is large, and the encoding of Java objects. It does not know
 * whether a keyspace or a transaction carries them out. No part of the API.
 */
@NullMarked
package io.osier.proxy.objects;

import org.jspecify.annotations.NullMarked;
