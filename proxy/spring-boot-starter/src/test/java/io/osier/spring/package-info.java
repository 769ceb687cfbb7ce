@NullMarked
package io.osier.spring;

import org.jspecify.annotations.NullMarked;
