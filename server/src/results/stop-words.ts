// The commonest words of languages, by which the language of a comment is recognized. They never stand out. Forms without
// apostrophes are parts, such as "don" and "ll". Pure.

/** The stop words by language, separated by white space. */
export const stopWordLists: Readonly<Record<string, string>> = {
  en: `a about after again all also always am an and any are aren as at be because been before being but by can cannot could
    couldn did didn do does doesn doing don done down even ever every few for from get gets getting go goes going got had hadn
    has hasn have haven having he her here him his how i if in into is isn it its just know like ll made make many may me more
    most much must my need never no nor not now of off often on once one only or other our out over own quite rather re really
    s same see she should shouldn since so some still such t than that the their them then there these they thing things this
    those through time to too up us use used ve very want was wasn way we well were weren what when where which while who whose
    why will with without won would wouldn yes yet you your`,
  sv: `ack aldrig all alla allt alltid alltså andra annan annat att av bara bli blir blev bort bra borde både där därför då de
    dem den denna deras dess dessa det detta dig din dina dit ditt du då efter eftersom ej eller en enda er era ert ett fler
    fram från få får före för förut går gick gör göra gjort ha hade han hans har helt henne hennes hit hon honom hur här i ibland
    igen in ingen inget inga innan inom inte ja jag ju kan kanske kom komma kommer kunde kunna lite man med mellan men mer mest
    mig min mina mitt mot mycket måste ner ni nu någon något några när nästan och också ofta om oss på redan samma sedan sen ser
    sig sin sina sitt ska skulle som så sådan säga tack till trots under upp ut utan vad var vara varit varje varför vem vi vid vilka
    vilken vill väl våra vår vårt är än ändå även åt över`,
  de: `aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da dadurch damit
    dann das dass dein deine dem den denn der des dessen die dies diese diesem diesen dieser dieses doch dort du durch ein eine
    einem einen einer eines er es etwas euch euer für gar gegen geht gibt habe haben hat hatte hatten her hier hin ich ihm ihn
    ihnen ihr ihre im immer in ins ist ja jede jeden jeder jedes jetzt kann kein keine können könnte machen mal man mehr mein
    meine mich mir mit muss müssen nach nicht nichts nie noch nun nur ob oder oft ohne schon sehr sein seine seit sich sie sind
    so soll sollte sondern über um und uns unser unsere unter viel viele vom von vor war waren warum was weil wenn wer werden
    wie wieder will wir wird wo wurde würde zu zum zur zwischen`,
  da: `ad af aldrig alle alt altid at bare blev blive bliver da de dem den denne der deres det dette dig din disse dog du efter
    eller en end er et få får for fordi fra før gør ham han har havde hen hende her hos hun hvad hvem hver hvis hvor hvordan
    i igen ikke ind ingen intet ja jeg jer jo kan kom kommer kun kunne lidt man mange med meget mellem men mere mest mig min
    mit mod må når nej ned nogen noget nogle nu næsten og også om op os over på sig sin skal skulle som så til ud uden under
    var vi vil ville vor vores være været`,
  nb: `aldri alle alltid alt at av bare ble bli blir både da de dem den denne der deres det dette din disse du eller en enn er
    et etter fordi for fra før få får gjør gjøre går ha hadde han har hun hva hvem hver hvis hvor hvordan hvorfor i igjen ikke
    ingen inn ja jeg kan kanskje kom kommer kun kunne litt man mange med meg meget mellom men mer mest mot mye må måtte ned
    nei noe noen nå når og også om opp oss over på samme seg selv sin skal skulle som så til under uten ut var ved vi vil ville
    vår våre være vært`,
  nl: `aan al alle alleen alles als altijd andere ben bij daar dan dat de deze die dit doen door dus echt een eens er ge geen
    geweest gaan gaat had heb hebben heeft hem het hier hij hoe hun iets ik in is ja je jij jullie kan komen kunnen maar me
    meer men met mij mijn moet moeten na naar niet niets nog nooit nu of om omdat ondanks ons onze ook op over per steeds te
    tegen toch toen tot u uit uw van vaak veel voor waar waarom wanneer want waren was wat we wel welke werd wie wij wil worden
    wordt ze zeer zelf zich zij zijn zo zonder zou`,
  fr: `à afin ai aller alors après as assez au aucun aussi autre autres aux avant avec avoir avons beaucoup bien c ça car ce
    cela ces cet cette ceux chaque chez comme comment d dans de depuis des deux donc dont du elle elles en encore entre est et
    était été être eu fait faire faut il ils j jamais je jusqu l la le les leur leurs lors lui m ma mais me même mes moi moins
    mon n ne ni non nos notre nous on ont ou où par parce pas pendant peu peut plus pour pourquoi qu quand que quel quelle qui
    quoi s sa sans se sera ses si son sont sous souvent sur ta te tes toi ton toujours tous tout toute toutes très trop tu un
    une vers voir vos votre vous y`,
  es: `a al algo algunos ante antes aquí así aunque bien cada casi como con contra cual cuando de del desde donde dos durante e
    el él ella ellos en entre era eran es esa ese eso esta está están estas este esto estos estoy fue ha hace hacer hacia han
    has hasta hay he la las le les lo los más me mi mí mis mucho muchos muy nada ni no nos nosotros nuestra nuestro nunca o
    otra otro otros para pero poco por porque puede que qué quien se sea ser si sí siempre sin sobre solo son su sus también
    tan tanto te tener tenemos tengo tiene todo todos tras tu tus un una unas uno unos usted va vamos veces y ya yo`,
  fi: `ainakin aina ei eikä ehkä ei en enemmän ennen eri esim että hän he hyvin ihan ilman itse ja jo joka jos jossa joskus jota
    kaikki kanssa kautta kerran koska koskaan kuin kuinka kun kuten liian lisää me mikä miksi minä minun missä mitä mitään
    mukaan mutta muu muut myös ne niiden niin niitä no noin nyt näin ole olemme olen oli olisi olla olleet ollut on ovat paljon
    pitää pitäisi se sekä sen siellä siinä sitten sitä tai tämä tämän te tulee tässä tätä vaan vai vaikka vain vielä voi voisi
    vähän yli`,
};
