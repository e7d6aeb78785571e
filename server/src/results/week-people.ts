// The people of a week. Each has a number in the order in which they are added, and people who are asked the same share one list of what
// they are asked: a team, which also has a number. So a week of a million people takes little memory, and what is the same for a team is
// computed once. Pure.

/**
 * That a round asks someone, and in which groups the person's answers count. Who is no longer active is withdrawn: these people count as never
 * asked, but answers they have already given still count (decision B13).
 */
export type Assigned = {
  roundId: number;
  groupIds: readonly number[];
  /** The segments in which the person's answers count, as they were when the round was opened. None if left out. */
  segmentIds?: readonly number[];
  isWithdrawn?: true;
};

export class WeekPeople {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [];
  readonly #teamOf: number[] = [];
  readonly #teams: (readonly Assigned[])[] = [[]];
  /** For each team, the number of the team with one assignment more. */
  readonly #larger: Map<Assigned, number>[] = [new Map()];
  readonly #known = new Map<readonly number[], Map<number | string, Assigned>>();
  /** The numbers of the people whose link was handed out by the employer. */
  readonly handedOut = new Set<number>();

  get count(): number {
    return this.#names.length;
  }

  /** What each team is asked, by its number. Teams can be without people. */
  get teams(): readonly (readonly Assigned[])[] {
    return this.#teams;
  }

  /** Returns the number of a respondent, who is added if not known yet. */
  numberOf(respondent: string): number {
    const known = this.#numbers.get(respondent);
    if (known !== undefined) return known;
    const number = this.#names.push(respondent) - 1;
    this.#numbers.set(respondent, number);
    this.#teamOf.push(0);
    return number;
  }

  /** Returns the number of a respondent; undefined if not known. */
  find(respondent: string): number | undefined {
    return this.#numbers.get(respondent);
  }

  nameOf(number: number): string {
    return this.#names[number] as string;
  }

  teamOf(number: number): number {
    return this.#teamOf[number] as number;
  }

  assignmentsOf(number: number): readonly Assigned[] {
    return this.#teams[this.#teamOf[number] as number] as readonly Assigned[];
  }

  /** Returns how many people are in each team. */
  teamSizes(): number[] {
    const sizes = this.#teams.map(() => 0);
    for (const team of this.#teamOf) sizes[team] = (sizes[team] as number) + 1;
    return sizes;
  }

  /** Adds what a person is asked. `groupIds` of a team should be one list. */
  assign(number: number, assigned: Assigned): void {
    this.#teamOf[number] = this.#teamWith(this.#teamOf[number] as number, this.#shared(assigned));
  }

  /** Withdraws what a person is asked by these rounds. */
  withdraw(number: number, roundIds: ReadonlySet<number>): void {
    let team = 0;
    for (const one of this.assignmentsOf(number)) {
      const isWithdrawn = one.isWithdrawn ?? roundIds.has(one.roundId);
      team = this.#teamWith(team, isWithdrawn ? this.#shared({ ...one, isWithdrawn }) : one);
    }
    this.#teamOf[number] = team;
  }

  #teamWith(team: number, assigned: Assigned): number {
    const larger = this.#larger[team] as Map<Assigned, number>;
    const known = larger.get(assigned);
    if (known !== undefined) return known;
    const added = this.#teams.push([...(this.#teams[team] as readonly Assigned[]), assigned]) - 1;
    this.#larger.push(new Map());
    larger.set(assigned, added);
    return added;
  }

  /** Returns the same object for the same assignment. */
  #shared(assigned: Assigned): Assigned {
    const { roundId, groupIds, segmentIds, isWithdrawn } = assigned;
    const name = segmentIds || isWithdrawn ? `${roundId} ${isWithdrawn} ${segmentIds?.join()}` : roundId;
    let ofGroups = this.#known.get(groupIds);
    if (!ofGroups) this.#known.set(groupIds, (ofGroups = new Map()));
    const known = ofGroups.get(name);
    if (known) return known;
    ofGroups.set(name, assigned);
    return assigned;
  }
}
