/**
 * Treats the heap as a resource: estimates how many bytes objects take ({@code HeapSize}), bounds
 * what something may hold ({@code Budget}), and reports when there is none left ({@code
 * OutOfMemory}). It must not know what takes the bytes.
 */
@NullMarked
package io.osier.core.memory;

import org.jspecify.annotations.NullMarked;
