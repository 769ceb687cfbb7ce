/**
 * Who may do what: users and their rights, logins by SCRAM-SHA-256, and how bad passwords are
 * slowed down. It is pure: time and chance are passed in, and what is decided comes out.
 */
@NullMarked
package io.osier.datacenter.access;

import org.jspecify.annotations.NullMarked;
