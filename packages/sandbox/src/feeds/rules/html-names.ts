/** HTML element names, including obsolete ones. */
export const HTML_ELEMENTS = words(`
  a abbr acronym address applet area article aside audio b base basefont bdi bdo big blockquote body br button canvas caption
  center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset figcaption figure font
  footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins isindex kbd label legend li link
  listing main map mark menu meta meter nav noframes noscript object ol optgroup option output p param picture plaintext pre
  progress q rp rt ruby s samp script section select slot small source span strike strong style sub summary sup table tbody td
  template textarea tfoot th thead time title tr track tt u ul var video wbr xmp`);

/** Entity names of HTML 4 (section 24), plus XML's `apos`. */
export const HTML_ENTITIES = words(`
  Aacute aacute Acirc acirc acute AElig aelig Agrave agrave alefsym Alpha alpha amp and ang Aring aring asymp Atilde atilde Auml
  auml bdquo Beta beta brvbar bull cap Ccedil ccedil cedil cent Chi chi circ clubs cong copy crarr cup curren Dagger dagger dArr
  darr deg Delta delta diams divide Eacute eacute Ecirc ecirc Egrave egrave empty emsp ensp Epsilon epsilon equiv Eta eta ETH eth
  Euml euml euro exist fnof forall frac12 frac14 frac34 frasl Gamma gamma ge gt hArr harr hearts hellip Iacute iacute Icirc icirc
  iexcl Igrave igrave image infin int Iota iota iquest isin Iuml iuml Kappa kappa Lambda lambda lang laquo lArr larr lceil ldquo
  le lfloor lowast loz lrm lsaquo lsquo lt macr mdash micro middot minus Mu mu nabla nbsp ndash ne ni not notin nsub Ntilde ntilde
  Nu nu Oacute oacute Ocirc ocirc OElig oelig Ograve ograve oline Omega omega Omicron omicron oplus or ordf ordm Oslash oslash
  Otilde otilde otimes Ouml ouml para part permil perp Phi phi Pi pi piv plusmn pound Prime prime prod prop Psi psi quot radic
  rang raquo rArr rarr rceil rdquo real reg rfloor Rho rho rlm rsaquo rsquo sbquo Scaron scaron sdot sect shy Sigma sigma sigmaf
  sim spades sub sube sum sup sup1 sup2 sup3 supe szlig Tau tau there4 Theta theta thetasym thinsp THORN thorn tilde times trade
  Uacute uacute uArr uarr Ucirc ucirc Ugrave ugrave uml upsih Upsilon upsilon Uuml uuml weierp Xi xi Yacute yacute yen Yuml yuml
  Zeta zeta zwj zwnj apos`);

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}
