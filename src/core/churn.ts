/**
 * Collections for members that come and go with each event. A Map or Set replaces its table after some deletions, and
 * the old table refers to the new one. Once a table is in V8's old generation, it keeps every later table, and all that
 * was in them, alive until the next full collection. Then almost every object of an event survives the collections of
 * the young generation, which take 9 ms instead of 1.
 *
 * Literals can have the same effect. If most objects of a literal survive a collection, V8 creates all later ones in
 * the old generation. While a thousand lanes wait for a commit, most objects survive. What a run keeps until its commit
 * is therefore an instance of a class, for which V8 makes no such decision.
 */

/** Neighbours in a {@link LinkedSet}. */
export interface Linked<T> {
  previous: T | undefined;
  next: T | undefined;
}

/** A set in insertion order. A member can be in one set at a time. */
export class LinkedSet<T extends Linked<T>> {
  #first: T | undefined;
  #last: T | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): T | undefined {
    return this.#first;
  }

  has(member: T): boolean {
    return member.previous !== undefined || this.#first === member;
  }

  add(member: T): void {
    if (this.has(member)) return;
    member.previous = this.#last;
    if (this.#last === undefined) this.#first = member;
    else this.#last.next = member;
    this.#last = member;
    this.#size += 1;
  }

  /** Returns false if the member is not in the set. */
  delete(member: T): boolean {
    if (!this.has(member)) return false;
    const { previous, next } = member;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    // A member that has left must not keep later members alive.
    member.previous = undefined;
    member.next = undefined;
    this.#size -= 1;
    return true;
  }

  /** The current member may be deleted meanwhile, but no other. */
  *[Symbol.iterator](): Generator<T> {
    for (let member = this.#first; member !== undefined; ) {
      const { next } = member;
      yield member;
      member = next;
    }
  }
}

/** Number of deleted keys that a {@link TransientMap} keeps, in addition to one per value. */
const MAX_DELETED = 1_000;

/** A map whose deleted keys stay in the table until there are many, and the map is copied. */
export class TransientMap<K, V> {
  #map = new Map<K, V | undefined>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: K): V | undefined {
    return this.#map.get(key);
  }

  set(key: K, value: V): void {
    if (this.#map.get(key) === undefined) this.#size += 1;
    this.#map.set(key, value);
  }

  delete(key: K): void {
    if (this.#map.get(key) === undefined) return;
    this.#map.set(key, undefined);
    this.#size -= 1;
    if (this.#map.size > 2 * this.#size + MAX_DELETED) this.#copy();
  }

  #copy(): void {
    this.#map = new Map([...this.#map].filter(([, value]) => value !== undefined));
  }
}
