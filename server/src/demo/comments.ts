// What people of the demo company write, in English and Swedish. No one is named. Pure.

/** Sentences by the language of the person who writes them. */
export type Sentences = { en: string[]; sv: string[] };

/** KPIs of the library. */
export type Topic =
  | 'workload'
  | 'clarity'
  | 'autonomy'
  | 'leadership'
  | 'development'
  | 'community'
  | 'fairness'
  | 'engagement';

/** Comments on the questions of a KPI, by people who gave good answers and by people who did not. */
export const comments: Record<Topic, { good: Sentences; bad: Sentences }> = {
  workload: {
    good: {
      en: [
        'The new shift plan gives me my Fridays back. Please keep it!',
        'I cycle home with a clear head again.',
        'Short days in July did wonders ☀️',
      ],
      sv: [
        'Nya schemat är det bästa som hänt på länge.',
        'Skönt att ingen hör av sig efter klockan fem.',
        'Jag hinner till och med träna numera 💪',
        'Lagom tempo just nu, det får gärna fortsätta så.',
      ],
    },
    bad: {
      en: [
        'Three people off sick and the same targets as always. The sums do not add up.',
        'I eat lunch standing up more often than sitting down.',
        'It is dark when I come and dark when I go, and nobody seems to slow down.',
      ],
      sv: [
        'Jag somnar i soffan klockan sju. Det är inte hållbart.',
        'Rasterna finns på schemat men inte i verkligheten.',
        'För många helger på rad nu.',
        'När en är sjuk får vi andra springa dubbelt så fort.',
      ],
    },
  },
  clarity: {
    good: {
      en: [
        'The Monday quarter of an hour tells me all I need for the week.',
        'First time in years that I could explain our plan to my mother.',
        'Good that the figures are on the wall for everyone.',
      ],
      sv: [
        'Tavlan vid ingången gör att alla vet vad som gäller.',
        'Bra genomgång av höstens sortiment, äntligen begriper jag varför.',
        'Tydligt vad som är viktigast, och vad som får vänta.',
      ],
    },
    bad: {
      en: [
        'Everything is “top priority”. Then nothing is.',
        'We read about the new collection in the newspaper before anyone told us.',
        'Plans change on Wednesday and we hear of it on Friday.',
      ],
      sv: [
        'Allt är ”prio ett”, alltså är inget det.',
        'Vi får veta saker av kunderna innan vi får veta dem internt.',
        'Målen byts oftare än jag hinner läsa dem.',
        'Säg hellre för mycket än för lite, tack.',
      ],
    },
  },
  leadership: {
    good: {
      en: [
        'I got a straight answer within a day. That is how it should be.',
        'Always a door open, even in the busiest week.',
        'Being told “well spotted” in front of everyone made my month.',
      ],
      sv: [
        'Känns tryggt att kunna säga som det är.',
        'Chefen var ute på golvet en hel dag och hjälpte till. Respekt!',
        'Fick beröm för något jag inte trodde att någon såg 😊',
      ],
    },
    bad: {
      en: [
        'Our one-to-one has been moved four times now.',
        'I only hear something when something went wrong.',
        'Good person, far too many things on their plate.',
      ],
      sv: [
        'Medarbetarsamtalet har skjutits upp sedan i våras.',
        'Det är tyst när det går bra och mejl när det går dåligt.',
        'Jag vet inte riktigt vem jag ska vända mig till längre.',
        'Beslut tas över våra huvuden, och sedan ska vi förklara dem.',
      ],
    },
  },
  community: {
    good: {
      en: [
        'Best crew I have ever worked with, rain or shine.',
        'Somebody bakes every Thursday. Say no more 🍰',
        'When the delivery came late, everyone stayed. Nobody had to ask.',
      ],
      sv: [
        'Vi skrattar varje dag, även när det är kaos.',
        'Fikat klockan nio är heligt ☕',
        'Här får man fråga samma sak tre gånger utan att någon suckar.',
        'Alla hjälptes åt när lastbilen kom sent. Då är man stolt.',
      ],
    },
    bad: {
      en: [
        'Two camps at the moment, and I sit in between.',
        'We say good morning and then nothing until five.',
        'Early and late shift hardly know each other’s names.',
      ],
      sv: [
        'Det pratas bakom ryggen, tyvärr.',
        'Kväll och dag är som två olika företag.',
        'Vi behöver träffas på riktigt, inte bara på skärm.',
      ],
    },
  },
  development: {
    good: {
      en: [
        'The course on taped seams was excellent, more of that!',
        'Swapping places with the shop for a week taught me more than any course.',
        'I was trusted with something big, and it went well.',
      ],
      sv: [
        'Fick prova att lägga mönster själv för första gången. Så kul!',
        'Bra att vi äldre får visa hur man gör, och att någon vill lära sig.',
        'Språkkursen på arbetstid var guld värd.',
      ],
    },
    bad: {
      en: [
        'Same table, same task, fourth year.',
        'There is a budget for courses, they say. I have not met it.',
        'I speak three languages and use one.',
      ],
      sv: [
        'Jag kan mycket mer än jag får visa.',
        'Kurserna ställs in varje gång det blir mycket att göra, alltså alltid.',
        'Svårt att se vad nästa steg skulle vara.',
      ],
    },
  },
  autonomy: {
    good: {
      en: [
        'Nobody stands behind me with a stopwatch. It shows in the seams.',
        'We plan our own week on Mondays, and it works.',
        'I changed the order of the racks and was thanked for it.',
      ],
      sv: [
        'Vi lägger vår egen ordning för dagen. Det går fortare så.',
        'Jag fick byta pass med en kollega utan tre blanketter.',
        'Skönt att få bestämma själv hur en trasig dragkedja ska lagas.',
      ],
    },
    bad: {
      en: [
        'I need two signatures for a box of needles.',
        'The system decides what I do next, and the system has never packed a box.',
        'Suggestions go up the stairs and never come down again.',
      ],
      sv: [
        'Varje minut är planerad av någon som aldrig varit här.',
        'Jag får ansvaret men inte nycklarna.',
        'Vi får välja mellan tidigt och tidigare.',
      ],
    },
  },
  fairness: {
    good: {
      en: [
        'Holidays were drawn by lot this year. Finally.',
        'I disagreed out loud in the big meeting, and nothing bad happened.',
        'They told us why the answer was no. I can live with that.',
      ],
      sv: [
        'Bra att övertiden fördelas lika nu.',
        'Jag fick svar på mitt förslag redan samma vecka.',
        'Samma regler för kontoret och för verkstaden, det märks.',
      ],
    },
    bad: {
      en: [
        'The same three people get every Saturday off.',
        'The rules are for those who do not know anyone upstairs.',
        'My suggestion from March has not even been declined yet.',
      ],
      sv: [
        'Helgerna hamnar alltid på samma personer.',
        'En del får komma sent, andra får en anmärkning.',
        'Beslutet var taget långt innan någon frågade oss.',
      ],
    },
  },
  engagement: {
    good: {
      en: [
        'Met a stranger on a mountain with a pack from 1994 that we had mended. That is why.',
        'I wear it on my days off. Nobody makes me.',
        'A customer said our tent “outlived two cars”. 🏔️',
      ],
      sv: [
        'När någon på tåget har vår ryggsäck blir jag lite extra rak i ryggen.',
        'Vi lagar i stället för att slänga. Det betyder mycket för mig.',
        'Mina barn skryter om var jag jobbar 😄',
        'Kvaliteten är på riktigt, inte bara i reklamen.',
      ],
    },
    bad: {
      en: [
        'Lovely products, but the pay next door is better.',
        'The zips of the spring jacket were not good enough, and we knew it.',
        'I like my work. I am not sure the company likes me back.',
      ],
      sv: [
        'Jag tycker om jobbet, men lönen står still.',
        'Vi lovar mer än vi hinner hålla.',
        'För mycket kampanj, för lite kvalitet på sista kollektionen.',
      ],
    },
  },
};

/** Answers to the free-text questions of the library, by key. */
export const openAnswers: Record<'change-one-thing' | 'works-well' | 'anything-else', Sentences> = {
  'change-one-thing': {
    en: [
      'One list of priorities instead of five.',
      'A till system that knows what is in the warehouse.',
      'Let the shops decide their own opening hours in January.',
      'Less e-mail, more talking.',
      'Pay the evening shift for the evening.',
      'A proper bike shed 🚲',
      'Tell us earlier when samples are late. We can plan, if we know.',
      'Put someone from the workshops in every design meeting.',
      'No meetings before ten.',
      'The heating on the second floor has two settings: off and Sahara.',
      'The stock system froze five times on Saturday, with a queue to the door.',
      'One printer for sixty people.',
    ],
    sv: [
      'Ett schema som läggs mer än två veckor i förväg.',
      'Bättre kaffe. På riktigt.',
      'Fler händer i november och december.',
      'Att butikerna och lagret pratar med varandra varje dag.',
      'Ett enda system i stället för fyra.',
      'Laga porten vid lastkajen, den har gnisslat sedan i våras.',
      'Fasta vikarier i stället för nya varje månad.',
      'Att man får prova plaggen ute innan de går i produktion.',
      'Sänk ljudet i sysalen!',
      'Mötesfria onsdagar.',
      'Låt oss som syr vara med när modellerna bestäms.',
      'Möjlighet att jobba hemma en dag i veckan, även för oss i kundtjänst.',
      'Omklädningsrum med plats för alla.',
      'Mer tid för reparationer. Kunderna väntar i sex veckor.',
      'Det drar från porten och vi står där i jacka.',
      'Ventilationen låter som ett flygplan ✈️',
    ],
  },
  'works-well': {
    en: [
      'The new cutting table is a dream to work at.',
      'Quiet room, good chair, what more do you want?',
      'The new till starts in seconds. Thank you, IT!',
      'The new colleague who sings while packing.',
      'Getting to test the stove in the snow, on paid time.',
      'My idea about the straps is in the new pack.',
      'Training the two new ones. They are going to be great.',
      'A “thank you” from the other end of the company.',
    ],
    sv: [
      'Nya lamporna gör verkligen skillnad.',
      'Äntligen ett lager där man hittar det man söker.',
      'Lyftborden har räddat min rygg 🙏',
      'Att få lära upp någon som verkligen vill.',
      'Nya kollegan som redan känns som gammal i gården.',
      'Fredagsfikat med kanelbullar.',
      'Att jag vågade säga ifrån, och att det blev bra.',
      'Ett riktigt bra samtal med min chef.',
      'Att ledningen lyssnade om skyddsskorna.',
      'Provturen till fjället med hela gänget 🏕️',
    ],
  },
  'anything-else': {
    en: [
      'A hand-written card from a customer whose tent we saved. It hangs by the coffee machine.',
      'Seeing the winter jacket finished after two years of drawings.',
      'We broke the Saturday record and had pizza on the floor 🍕',
      'Somebody fixed the printer!',
      'The sun on the loading bay at seven in the morning.',
      'A canteen with vegetables that are not beige, please.',
    ],
    sv: [
      'Att min trettio år gamla symaskin fick ny motor.',
      'En kund kom in bara för att säga ”tack för hjälpen”.',
      'Sommarfesten, förstås. Gör om den!',
      'När tältet stod emot stormen i testhallen.',
      'Någon hade diskat 😂',
      'Första snön, och alla som plötsligt behövde vantar.',
      'Inget mer. Det är faktiskt bra som det är 🙂',
      'Lugnet efter rean.',
    ],
  },
};

/** What people write about events that affect only some of them. */
export const storyComments: Record<'newSystem' | 'systemFixed' | 'split', Sentences> = {
  newSystem: {
    en: [
      'The new picking system sends me to the same shelf three times in a row.',
      'We are slower than before and get the blame for it.',
      'Switch the old scanners back on until this works.',
      'The system is down twice a shift, and the targets stay the same.',
      'I look for shelves that only the system can see.',
    ],
    sv: [
      'Nya plocksystemet skickar oss kors och tvärs. Jag gick 19 km i går.',
      'Ingen frågade oss som plockar innan de köpte det här.',
      'Skannern piper, skärmen är svart, och ordrarna rasar in.',
      'Vi hinner inte med, och det känns som vårt fel.',
      'Två av de bästa har slutat. Undra varför.',
      'Systemet visar hyllor som inte finns längre.',
      'När systemet hänger sig står hela plocket still.',
      'Vi skriver listor för hand när systemet ligger nere.',
      'Systemet tror att jag kan vara i två gångar samtidigt.',
      'Ingen vet vem man ringer när systemet krånglar.',
      'Kvällen går åt till att rätta det som systemet gjorde på dagen.',
    ],
  },
  systemFixed: {
    en: [
      'The scanners work, and so do the breaks. What a difference.',
      'They asked us, and then they did it.',
      'The system finally knows the shelves as well as we do.',
    ],
    sv: [
      'Nu fungerar systemet nästan jämt, och vi fick vara med och rätta det.',
      'Det är roligt att gå hit igen 🎉',
      'Skönt att någon till slut lyssnade på oss.',
      'Rutterna är kortare nu, benen tackar.',
      'Systemet hittar rätt hylla nu. Tack till er som lagade det.',
      'Efter uppdateringen är systemet det som vi blev lovade.',
      'Jag litar på systemet igen, och mina skor håller längre.',
    ],
  },
  split: {
    en: [
      'New team, old tasks. Who does what from now on?',
      'I still get the calls that belong to the other team.',
      'Smaller teams are better. The way here could have been explained, though.',
    ],
    sv: [
      'Oklart vem som äger vad efter delningen.',
      'Jag saknar mina gamla kollegor på andra sidan korridoren.',
      'Två chefer svarar olika på samma fråga.',
      'Bra att vi delades, men varför så bråttom?',
    ],
  },
};
