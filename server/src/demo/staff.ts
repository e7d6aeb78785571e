// The people of the demo company over the weeks of its history: who joins, who leaves, and who is in which group. Pure.
import { type Random, randomFrom } from '../simulation/random.ts';
import { type Country, lentOut, names, type Unit, units } from './units.ts';

/** The number of weeks of the history. Weeks are counted from 0; number 26 is the current week. */
export const weekCount = 26;

/** The first week after a department was split. */
export const splitWeek = 13;

export type DemoLanguage = 'sv' | 'en' | 'de';

export type DemoPerson = {
  externalId: string;
  firstName: string;
  lastName: string;
  email: string;
  language: DemoLanguage;
  /** The person's current unit, or the last unit of a person who has left. */
  unit: Unit;
  leads: boolean;
  /** Groups that the person is a member of in addition to the unit. */
  alsoIn: string[];
  /** The previous unit of a person who has moved, and the first week after the move. */
  moved?: { from: Unit; week: number };
  /** The first week in which the person is asked, and the first week in which the person is no longer asked. */
  begins: number;
  ends: number;
  state: 'here' | 'on leave' | 'gone';
};

const unitById = new Map(units.map((unit) => [unit.id, unit]));
const languageOf: Record<Country, DemoLanguage> = { se: 'sv', uk: 'en', de: 'de' };
const countries: Country[] = ['se', 'uk', 'de'];

/** Returns whether a team is so large that people can join, leave and move without affecting which figures are shown. */
const isLarge = ({ people }: Unit) => people >= 8;

const newcomerShare = 0.085;
const leaveShare = 0.012;
const leaverCount = 30;
const moverCount = 10;

/** Returns all current people, unit by unit with the leader first, and then everyone who has left. */
export function makeStaff(seed: number): DemoPerson[] {
  const random = randomFrom(seed, 'staff');
  const draw = identities(random);
  const people: DemoPerson[] = [];
  for (const unit of units) {
    for (let i = 0; i < unit.people; i++) {
      const mayChange = i > 0 && isLarge(unit);
      const begins =
        mayChange && random.chance(newcomerShare) ? 1 + Math.floor(random.next() * weekCount) : 0;
      const isOnLeave = mayChange && begins === 0 && random.chance(leaveShare);
      people.push({
        ...draw(unit.country),
        unit,
        leads: i === 0,
        alsoIn: [],
        begins,
        ends: isOnLeave ? 6 + Math.floor(random.next() * 18) : Infinity,
        state: isOnLeave ? 'on leave' : 'here',
      });
    }
  }
  lend(people);
  move(people, random);
  const large = units.filter(isLarge);
  for (let i = 0; i < leaverCount; i++) {
    const unit = random.oneOf(large);
    const ends = 2 + Math.floor(random.next() * (weekCount - 2));
    people.push({ ...draw(unit.country), unit, leads: false, alsoIn: [], begins: 0, ends, state: 'gone' });
  }
  numberAll(people, random);
  return people;
}

/** Returns the groups that a person is a member of in a week. Empty if the person is not asked in that week. */
export function groupsInWeek(person: DemoPerson, week: number): string[] {
  if (week < person.begins || week >= person.ends) return [];
  const unit = person.moved && week < person.moved.week ? person.moved.from.id : person.unit.id;
  const now = [unit, ...person.alsoIn];
  if (week >= splitWeek) return now;
  return [...new Set(now.map((id) => unitById.get(id)?.before ?? id))];
}

/** Returns a function that draws people with unique names and email addresses. Their externalIds are added at the end. */
function identities(random: Random) {
  const taken = new Set<string>();
  return (home: Country) => {
    for (;;) {
      const origin = random.chance(0.84) ? home : random.oneOf(countries);
      const firstName = random.oneOf(names[origin].first);
      const lastName = random.oneOf(names[origin].last);
      const email = `${plain(firstName)}.${plain(lastName)}@lavmark.example`;
      if (taken.has(email)) continue;
      taken.add(email);
      const language = random.chance(0.9) ? languageOf[origin] : random.chance(0.5) ? languageOf[home] : 'en';
      return { externalId: '', firstName, lastName, email, language };
    }
  };
}

/** Returns a name in the letters a to z. */
const plain = (name: string) =>
  name
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ı', 'i')
    .normalize('NFKD')
    .replace(/[^a-z]/g, '');

/** Adds the second groups of `lentOut`: in each first group, to the last person who has been there from the beginning. */
function lend(people: DemoPerson[]): void {
  for (const [from, also] of lentOut) {
    people
      .findLast(({ unit, begins, state }) => unit.id === from && begins === 0 && state === 'here')
      ?.alsoIn.push(also);
  }
}

/** Gives some people a previous team, with the same workplace and country. */
function move(people: DemoPerson[], random: Random): void {
  const settled = people.filter(
    ({ unit, leads, begins, state, alsoIn }) =>
      isLarge(unit) && !leads && begins === 0 && state === 'here' && alsoIn.length === 0,
  );
  for (const person of random.shuffled(settled).slice(0, moverCount)) {
    const { unit } = person;
    const others = units.filter(
      (one) =>
        isLarge(one) &&
        one.id !== unit.id &&
        one.country === unit.country &&
        one.workplace === unit.workplace,
    );
    if (others.length === 0) continue;
    person.moved = { from: random.oneOf(others), week: 3 + Math.floor(random.next() * (weekCount - 4)) };
  }
}

/** Gives each person an employee number as externalId, in the order in which they joined. */
function numberAll(people: DemoPerson[], random: Random): void {
  let number = 1000;
  for (const person of random.shuffled(people).toSorted((a, b) => a.begins - b.begins)) {
    person.externalId = `LM${++number}`;
  }
}
