package io.osier.protocol;

import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** A request of an operator or of a program that watches over the datacenter. */
public sealed interface AdminRequest extends Request {
  /** Asks what the datacenter is doing. Answered by {@link Reply.Report}. */
  record Inspect(Request.Topic topic, Optional<String> keyspace, int limit)
      implements AdminRequest {}

  /**
   * Asks for a backup of everything durable, which is made while everything goes on. Answered by
   * {@link Reply.Report} with its location.
   *
   * @param name of letters, digits, '.', '_' and '-', at most {@link #BACKUP_NAME_MAX} of them; no
   *     backup may have it yet; empty to let the datacenter choose
   */
  record Backup(Optional<String> name) implements AdminRequest {}

  /**
   * Changes or shows settings that apply to all datacenters. Answered by {@link Reply.Report} once
   * a change is durable at the datacenter that was asked.
   *
   * @param subject the kind of thing, for example {@code keyspace}
   * @param action what is to be done with it, for example {@code create}
   * @param name of the thing; empty for all of its kind
   * @param settings by their names
   */
  record Administer(String subject, String action, String name, SortedMap<String, String> settings)
      implements AdminRequest {
    public Administer {
      settings = Collections.unmodifiableSortedMap(new TreeMap<>(settings));
    }

    /**
     * Whether it only asks why data is late, or is encoded like that question: for the key {@code
     * name}, as URL-safe base 64, in the keyspace of the setting {@code keyspace}; for all
     * datacenters if that is omitted.
     */
    public boolean asksWhy() {
      return subject.equals("why");
    }

    /** Omits the settings' values, which may be secret. */
    @Override
    public String toString() {
      return subject + " " + action + " " + name + " " + settings.keySet();
    }
  }
}
