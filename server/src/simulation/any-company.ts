// What people write in a simulated company without any particular character, in the languages of the library. Pure.
import type { Character, Sentences } from './sentiment.ts';

const good: Sentences = {
  en: [
    'A good week. More of those, please.',
    'It is noticed when something goes well, and that helps.',
    'We have found a rhythm that works.',
    'Everybody pulled together. It was fun.',
    'I had time to do it properly for once.',
  ],
  sv: [
    'En bra vecka. Gärna fler sådana.',
    'Det märks när något går bra, och det hjälper.',
    'Vi har hittat en rytm som fungerar.',
    'Alla hjälptes åt. Det var roligt.',
    'För en gångs skull hann jag göra det ordentligt.',
  ],
  de: [
    'Eine gute Woche. Gerne mehr davon.',
    'Es fällt auf, wenn etwas gut läuft, und das hilft.',
    'Wir haben einen Rhythmus gefunden, der passt.',
    'Alle haben angepackt. Das hat Spaß gemacht.',
    'Ich hatte endlich einmal Zeit, es richtig zu machen.',
  ],
};

const bad: Sentences = {
  en: [
    'Too much at once, again.',
    'We hear of changes when they have happened.',
    'Things that do not work stay that way for too long.',
    'There are too few of us for all this.',
    'I would like to be asked before it is decided.',
  ],
  sv: [
    'För mycket på en gång, igen.',
    'Vi får höra om förändringar när de redan har skett.',
    'Det som inte fungerar får vara så alldeles för länge.',
    'Vi är för få för allt det här.',
    'Jag skulle vilja bli tillfrågad innan det beslutas.',
  ],
  de: [
    'Schon wieder zu viel auf einmal.',
    'Von Änderungen hören wir erst, wenn sie passiert sind.',
    'Was nicht funktioniert, bleibt viel zu lange so.',
    'Für all das sind wir zu wenige.',
    'Ich würde gern gefragt, bevor es entschieden ist.',
  ],
};

const inGeneral: Sentences = Object.fromEntries(
  Object.entries(good).map(([language, some]) => [language, [...some, ...(bad[language] ?? [])]]),
) as Sentences;

/** A company without any particular character: all topics are the same, and nothing happens. */
export const anyCompany: Character = {
  topics: {},
  turn: () => 0,
  remark(random, { felt }) {
    if (felt < 2.7 && random.chance(0.03)) return bad;
    if (felt > 4.2 && random.chance(0.012)) return good;
    return undefined;
  },
  openAnswer: () => inGeneral,
};
