/**
 * The size class of places: whoever lives in Berlin also lives in Germany, so places of different sizes do not contradict
 * each other. Unlisted places count as towns.
 */

type PlaceSize = 'district' | 'town' | 'region' | 'country' | 'continent'

export function getPlaceSize(place: string): PlaceSize {
  return (
    SIZES.get(place.toLowerCase().replace(/^(?:the|la|el|les|le|a|o|os|den|die|der) /u, '')) ??
    'town'
  )
}

const CONTINENTS =
  'europe,asia,africa,north america,south america,latin america,america,australasia,oceania,scandinavia,' +
  'europa,asien,afrika,nordamerika,südamerika,amerika,skandinavien,áfrica,américa,norteamérica,latinoamérica,sudamérica,' +
  'asie,afrique,amérique,amérique du nord,amérique du sud,ásia,américa do sul,américa do norte,escandinavia,scandinavie,' +
  '欧洲,亚洲,非洲,美洲,北美,南美,ヨーロッパ,アジア,アフリカ,北米,南米'

const COUNTRIES =
  // English
  'afghanistan,albania,algeria,angola,argentina,armenia,australia,austria,azerbaijan,bangladesh,belarus,belgium,bolivia,' +
  'bosnia,brazil,bulgaria,cambodia,cameroon,canada,chile,china,colombia,costa rica,croatia,cuba,cyprus,czechia,' +
  'czech republic,denmark,dominican republic,ecuador,egypt,el salvador,england,estonia,ethiopia,finland,france,georgia,' +
  'germany,ghana,great britain,britain,greece,guatemala,honduras,hungary,iceland,india,indonesia,iran,iraq,ireland,israel,' +
  'italy,jamaica,japan,jordan,kazakhstan,kenya,korea,south korea,north korea,kuwait,laos,latvia,lebanon,libya,' +
  'liechtenstein,lithuania,malaysia,malta,mexico,moldova,mongolia,montenegro,morocco,mozambique,myanmar,namibia,nepal,' +
  'netherlands,new zealand,nicaragua,nigeria,north macedonia,northern ireland,norway,pakistan,panama,paraguay,peru,' +
  'philippines,poland,portugal,qatar,romania,russia,rwanda,saudi arabia,scotland,senegal,serbia,slovakia,slovenia,' +
  'south africa,spain,sri lanka,sudan,sweden,switzerland,syria,taiwan,tanzania,thailand,tunisia,turkey,türkiye,uganda,' +
  'ukraine,united arab emirates,uae,united kingdom,uk,united states,usa,us,uruguay,uzbekistan,venezuela,vietnam,wales,' +
  'yemen,zambia,zimbabwe,' +
  // German
  'deutschland,österreich,schweiz,frankreich,spanien,italien,belgien,niederlande,niederlanden,holland,dänemark,schweden,' +
  'norwegen,finnland,polen,tschechien,ungarn,griechenland,türkei,russland,großbritannien,irland,schottland,kroatien,' +
  'rumänien,bulgarien,serbien,slowenien,slowakei,estland,lettland,litauen,japan,indien,brasilien,argentinien,mexiko,' +
  'kanada,vereinigte staaten,ägypten,marokko,südafrika,australien,neuseeland,südkorea,luxemburg,luxembourg,island,' +
  // Spanish
  'alemania,austria,suiza,francia,españa,italia,bélgica,países bajos,holanda,dinamarca,suecia,noruega,finlandia,polonia,' +
  'hungría,grecia,turquía,rusia,reino unido,inglaterra,irlanda,escocia,croacia,rumanía,japón,corea,corea del sur,india,' +
  'brasil,méxico,perú,canadá,estados unidos,egipto,marruecos,sudáfrica,nueva zelanda,panamá,república dominicana,' +
  // French
  'allemagne,autriche,suisse,espagne,italie,belgique,pays-bas,danemark,suède,norvège,finlande,pologne,hongrie,grèce,' +
  'turquie,russie,royaume-uni,angleterre,irlande,écosse,croatie,roumanie,japon,corée,inde,brésil,argentine,mexique,' +
  'pérou,chili,colombie,états-unis,égypte,maroc,tunisie,algérie,sénégal,afrique du sud,australie,nouvelle-zélande,chine,' +
  // Portuguese
  'alemanha,áustria,suíça,frança,espanha,itália,países baixos,suécia,polônia,polónia,hungria,grécia,turquia,' +
  'rússia,inglaterra,escócia,croácia,romênia,roménia,japão,coreia,índia,egito,marrocos,áfrica do sul,austrália,' +
  'nova zelândia,moçambique,cabo verde,colômbia,uruguai,paraguai,equador,' +
  // Chinese and Japanese
  '中国,日本,韩国,朝鲜,美国,英国,法国,德国,意大利,西班牙,葡萄牙,俄罗斯,加拿大,澳大利亚,新西兰,印度,泰国,越南,新加坡,马来西亚,' +
  '瑞士,奥地利,荷兰,比利时,瑞典,挪威,丹麦,芬兰,波兰,巴西,墨西哥,阿根廷,南非,埃及,土耳其,韓国,アメリカ,イギリス,フランス,' +
  'ドイツ,イタリア,スペイン,ポルトガル,ロシア,カナダ,オーストラリア,ニュージーランド,インド,タイ,ベトナム,シンガポール,スイス,オーストリア,' +
  'オランダ,ベルギー,スウェーデン,ノルウェー,デンマーク,フィンランド,ポーランド,ブラジル,メキシコ,トルコ'

const REGIONS =
  // The United States, Canada, Australia
  'alabama,alaska,arizona,arkansas,california,colorado,connecticut,delaware,florida,hawaii,idaho,illinois,indiana,iowa,' +
  'kansas,kentucky,louisiana,maine,maryland,massachusetts,michigan,minnesota,mississippi,missouri,montana,nebraska,nevada,' +
  'new hampshire,new jersey,new mexico,new york state,north carolina,north dakota,ohio,oklahoma,oregon,pennsylvania,' +
  'rhode island,south carolina,south dakota,tennessee,texas,utah,vermont,virginia,washington state,west virginia,' +
  'wisconsin,wyoming,new england,the midwest,midwest,ontario,quebec,british columbia,alberta,manitoba,saskatchewan,' +
  'nova scotia,new south wales,queensland,tasmania,bay area,silicon valley,cornwall,devon,kent,essex,yorkshire,' +
  // Germany, Austria, Switzerland
  'bavaria,saxony,hesse,tyrol,bayern,sachsen,hessen,thüringen,brandenburg,niedersachsen,nordrhein-westfalen,nrw,' +
  'rheinland-pfalz,saarland,schleswig-holstein,sachsen-anhalt,mecklenburg-vorpommern,baden-württemberg,schwaben,franken,' +
  'tirol,kärnten,steiermark,vorarlberg,burgenland,ruhrgebiet,allgäu,' +
  // Spain, France, Italy, Portugal, Brazil
  'catalonia,andalusia,basque country,cataluña,andalucía,galicia,asturias,aragón,extremadura,castilla,navarra,país vasco,' +
  'cantabria,murcia,provence,normandy,brittany,bretagne,normandie,alsace,occitanie,bourgogne,île-de-france,corse,corsica,' +
  'tuscany,sicily,sardinia,lombardy,toscana,algarve,alentejo,minho,açores,madeira,bahia,paraná,minas gerais,' +
  'rio grande do sul,santa catarina,pernambuco,ceará,goiás,' +
  // China and Japan
  '广东,广东省,浙江,浙江省,江苏,江苏省,四川,四川省,山东,山东省,湖南,湖南省,湖北,湖北省,福建,福建省,河北,河北省,河南,河南省,' +
  '云南,云南省,辽宁,辽宁省,陕西,陕西省,北海道,関東,関西,九州,四国,東北,神奈川,神奈川県,千葉県,埼玉県,愛知県,兵庫県,福岡県,沖縄県'

const DISTRICTS =
  'manhattan,brooklyn,queens,bronx,staten island,harlem,soho,hollywood,camden,hackney,islington,shoreditch,brixton,chelsea,' +
  'kreuzberg,neukölln,friedrichshain,prenzlauer berg,charlottenburg,wedding,moabit,schöneberg,altona,eimsbüttel,' +
  'sankt pauli,st. pauli,schwabing,sendling,ehrenfeld,bockenheim,connewitz,montmartre,marais,belleville,la défense,' +
  'malasaña,chueca,lavapiés,gràcia,eixample,triana,alfama,chiado,copacabana,ipanema,leblon,pinheiros,vila madalena,' +
  '浦东,徐汇,静安,海淀,朝阳,朝阳区,海淀区,浦东新区,天河区,福田,渋谷,渋谷区,新宿,新宿区,池袋,品川,世田谷,世田谷区,港区,目黒,梅田,難波'

const SIZES: ReadonlyMap<string, PlaceSize> = new Map(
  (
    [
      ['district', DISTRICTS],
      ['region', REGIONS],
      ['country', COUNTRIES],
      ['continent', CONTINENTS],
    ] as const
  ).flatMap(([size, names]) => names.split(',').map((name) => [name, size] as const)),
)
