/**
 * Osier in applications of Spring Boot: with {@code osier-spring-boot-starter} on the class path
 * there is an {@link io.osier.proxy.OsierClient} and a {@link io.osier.proxy.Keyspace} to inject,
 * made of the settings {@code osier.*} ({@link io.osier.spring.OsierProperties}); besides, what
 * belongs to it in health, metrics and {@code @Cacheable}. A bean of the application's own takes
 * the place of each.
 */
@NullMarked
package io.osier.spring;

import org.jspecify.annotations.NullMarked;
