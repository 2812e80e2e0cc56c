import ComicVault
