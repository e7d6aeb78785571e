// What the demo company is asked, and what its people say to it, in English and Swedish.

/** A text in the two languages of the demo company. */
export type Words = { en: string; sv: string };

export type DemoQuestion = Words & {
  key: string;
  type: 1 | 2 | 3 | 4 | 5 | 6 | 7;
  /** How much better (or worse) than other questions it is answered, in steps of a scale from 1 to 5. */
  lean?: number;
  /** Of types 5 and 6; `weight` is how often an option is chosen beside the others. */
  options?: (Words & { id: string; weight: number })[];
};

export type DemoKpi = { id: string; name: string; questions: DemoQuestion[] };

export const kpis = [
  {
    id: 'energy',
    name: 'Energy and balance',
    questions: [
      {
        key: 'energy-left',
        type: 1,
        lean: -0.15,
        en: 'After a working day I have energy left for something of my own.',
        sv: 'Efter en arbetsdag har jag ork kvar till något eget.',
      },
      {
        key: 'energy-breaks',
        type: 1,
        lean: 0.1,
        en: 'I get the breaks I need.',
        sv: 'Jag får de pauser jag behöver.',
      },
      {
        key: 'energy-week',
        type: 2,
        en: 'All in all, how good was your last week at work?',
        sv: 'På det hela taget, hur bra var din senaste vecka på jobbet?',
      },
    ],
  },
  {
    id: 'direction',
    name: 'Clear direction',
    questions: [
      {
        key: 'direction-first',
        type: 1,
        lean: 0.15,
        en: 'I know which of my tasks matters most right now.',
        sv: 'Jag vet vilken av mina uppgifter som är viktigast just nu.',
      },
      {
        key: 'direction-why',
        type: 1,
        lean: -0.1,
        en: 'I understand why the company goes the way it goes.',
        sv: 'Jag förstår varför företaget går åt det håll det går.',
      },
      {
        key: 'direction-news',
        type: 2,
        lean: -0.15,
        en: 'How good are we at telling you in time what is about to change?',
        sv: 'Hur bra är vi på att i tid berätta för dig vad som ska ändras?',
      },
    ],
  },
  {
    id: 'leadership',
    name: 'Leadership',
    questions: [
      {
        key: 'leader-listens',
        type: 1,
        lean: 0.2,
        en: 'My nearest manager makes time to hear me out.',
        sv: 'Min närmaste chef tar sig tid att lyssna färdigt på mig.',
      },
      {
        key: 'leader-thanks',
        type: 1,
        lean: -0.1,
        en: 'When I have done something well, somebody tells me so.',
        sv: 'När jag har gjort något bra är det någon som säger det.',
      },
      {
        key: 'leader-help',
        type: 2,
        en: 'How much help is your nearest manager when things get difficult?',
        sv: 'Hur stor hjälp har du av din närmaste chef när det blir svårt?',
      },
    ],
  },
  {
    id: 'team',
    name: 'Team spirit',
    questions: [
      {
        key: 'team-ask',
        type: 1,
        lean: 0.3,
        en: 'I can ask anyone in my team for a hand without thinking twice.',
        sv: 'Jag kan be vem som helst i mitt team om hjälp utan att tveka.',
      },
      {
        key: 'team-disagree',
        type: 1,
        lean: -0.1,
        en: 'We can disagree in the morning and still have lunch together.',
        sv: 'Vi kan vara oense på förmiddagen och ändå äta lunch ihop.',
      },
      {
        key: 'team-laugh',
        type: 1,
        en: 'On most days somebody in my team makes me laugh.',
        sv: 'De flesta dagar är det någon i mitt team som får mig att skratta.',
      },
    ],
  },
  {
    id: 'growth',
    name: 'Learning',
    questions: [
      {
        key: 'growth-new',
        type: 1,
        lean: 0.05,
        en: 'In the last month I have learned something that I will use again.',
        sv: 'Den senaste månaden har jag lärt mig något som jag får användning för igen.',
      },
      {
        key: 'growth-skills',
        type: 2,
        en: 'How much of what you are good at do you get to use here?',
        sv: 'Hur mycket av det du är bra på får du använda här?',
      },
      {
        key: 'growth-talk',
        type: 4,
        lean: -0.15,
        en: 'In the last three months, have you and your manager talked about what you want to learn?',
        sv: 'Har du och din chef under de senaste tre månaderna pratat om vad du vill lära dig?',
      },
    ],
  },
  {
    id: 'place',
    name: 'Place and tools',
    questions: [
      {
        key: 'place-tools',
        type: 1,
        lean: -0.2,
        en: 'My tools and systems are more of a help than a hindrance.',
        sv: 'Mina verktyg och system är till mer hjälp än besvär.',
      },
      {
        key: 'place-air',
        type: 1,
        lean: -0.1,
        en: 'Where I work, the light, the air and the noise are as they should be.',
        sv: 'Där jag arbetar är ljuset, luften och ljudnivån som de ska vara.',
      },
      {
        key: 'place-safe',
        type: 4,
        lean: 0.6,
        en: 'Could you do all of last week’s work without risking your health?',
        sv: 'Kunde du göra allt arbete förra veckan utan att riskera din hälsa?',
      },
    ],
  },
  {
    id: 'pride',
    name: 'Pride',
    questions: [
      {
        key: 'pride-gift',
        type: 1,
        lean: 0.4,
        en: 'I would gladly give something we make to a good friend.',
        sv: 'Jag skulle gärna ge bort något vi gör till en god vän.',
      },
      {
        key: 'pride-stay',
        type: 1,
        lean: -0.1,
        en: 'I think I will still be working here in two years.',
        sv: 'Jag tror att jag arbetar kvar här om två år.',
      },
      {
        key: 'pride-recommend',
        type: 3,
        lean: 0.25,
        en: 'A friend is looking for a job. How gladly would you point them our way?',
        sv: 'En vän söker jobb. Hur gärna skulle du tipsa om oss?',
      },
    ],
  },
] as const satisfies DemoKpi[];

export type Topic = (typeof kpis)[number]['id'];

/** Questions that no KPI is made of, in the order in which they are asked. */
export const otherQuestions: DemoQuestion[] = [
  {
    key: 'next-outing',
    type: 5,
    en: 'Where shall the next company outing go?',
    sv: 'Vart ska nästa företagsutflykt gå?',
    options: [
      { id: 'hills', weight: 36, en: 'Up a hill, with tents', sv: 'Upp på ett fjäll, med tält' },
      { id: 'sea', weight: 30, en: 'To the sea, with kayaks', sv: 'Ut på havet, med kajak' },
      { id: 'forest', weight: 22, en: 'Into the forest, with a fire', sv: 'Ut i skogen, med en eld' },
      { id: 'sofa', weight: 12, en: 'Nowhere: cake in the canteen', sv: 'Ingenstans: tårta i matsalen' },
    ],
  },
  {
    key: 'text-change',
    type: 7,
    en: 'If you could change one thing here by tomorrow, what would it be?',
    sv: 'Om du fick ändra en sak här till i morgon, vad skulle det vara?',
  },
  {
    key: 'slowed-down',
    type: 6,
    en: 'What has slowed you down this month? Choose all that fit.',
    sv: 'Vad har bromsat dig den här månaden? Välj allt som stämmer.',
    options: [
      { id: 'systems', weight: 34, en: 'Systems that are slow or down', sv: 'System som är sega eller nere' },
      { id: 'waiting', weight: 29, en: 'Waiting for an answer', sv: 'Att vänta på svar' },
      { id: 'meetings', weight: 20, en: 'Meetings', sv: 'Möten' },
      { id: 'material', weight: 24, en: 'Goods or material missing', sv: 'Varor eller material som saknats' },
      { id: 'staff', weight: 27, en: 'Too few of us', sv: 'Att vi är för få' },
      { id: 'nothing', weight: 12, en: 'Nothing worth mentioning', sv: 'Inget att tala om' },
    ],
  },
  {
    key: 'text-glad',
    type: 7,
    en: 'What has made you glad at work lately?',
    sv: 'Vad har gjort dig glad på jobbet på sistone?',
  },
  {
    key: 'best-hours',
    type: 5,
    en: 'When in the day do you get the most done?',
    sv: 'När på dagen får du mest gjort?',
    options: [
      { id: 'early', weight: 30, en: 'Before the others come', sv: 'Innan de andra kommer' },
      { id: 'morning', weight: 38, en: 'In the morning', sv: 'På förmiddagen' },
      { id: 'afternoon', weight: 18, en: 'In the afternoon', sv: 'På eftermiddagen' },
      { id: 'evening', weight: 9, en: 'In the evening', sv: 'På kvällen' },
      {
        id: 'never',
        weight: 5,
        en: 'I am hardly ever left in peace',
        sv: 'Jag får nästan aldrig arbeta ostört',
      },
    ],
  },
];
