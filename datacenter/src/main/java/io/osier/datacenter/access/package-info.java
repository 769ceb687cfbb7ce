/**
 * Users and their rights, logins by SCRAM-SHA-256, and the throttling of wrong passwords. It is
 * pure: time and random numbers are passed in, and decisions are returned.
 */
@NullMarked
package io.osier.datacenter.access;

import org.jspecify.annotations.NullMarked;
